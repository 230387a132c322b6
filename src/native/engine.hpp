// The training engine: a stack run forwards and backwards over a batch, tile by tile. Tiles are independent, and what
// they add to (the sums of each row of parameters) is kept in a number of parts that depends on the batch and the stack
// alone: the result is the same, to the bit, for any number of threads.
#pragma once
#include <mutex>

#include "tiles.hpp"

namespace hardwire {

class Engine {
 public:
  Engine(const std::vector<LevelData>& levels, bool fuse, std::vector<Step> steps = {})
      : stack_(levels, fuse, std::move(steps)) {}

  const Stack& stack() const { return stack_; }

  // out: [batch][classes], or [batch][neurons of the last level] without a head. made: keeps what the neurons made for
  // the way back, which then need not run forwards again; for the float path where that is bits. Or null.
  void forward(const Choice& choice, const Samples& samples, const Head& head, int threads, float* out,
               std::uint16_t* made = nullptr) const;

  // How many words keep what a batch made: [tiles][neurons of all levels].
  std::int64_t made_size(std::int64_t batch) const;

  // From the gradient of forward's result to that of the logits and, unless null, of the input [batch][inputs]. The
  // temperatures of the rules are those of the surrogates.
  void backward(const Choice& choice, const Samples& samples, const Head& head, const float* out_gradient,
                const Logits& logits, const std::vector<LevelRule>& rules, int threads, const LogitGradients& gradients,
                float* in_gradient, std::uint16_t* made = nullptr) const;

 private:
  void reserve_scratch(int threads) const;

  Stack stack_;
  mutable std::mutex busy_;  // scratch space is shared by all calls
  mutable std::deque<Scratch> scratch_;
  mutable Buffer sums_;
};

}  // namespace hardwire
