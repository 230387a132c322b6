#include "bindings.hpp"
#include "packing.hpp"

using Words = Matrix<std::uint64_t>;
using ConstWords = Matrix<const std::uint64_t>;

template <class Raw>
void encode(Matrix<const Raw> raw, Matrix<const float> thresholds, Words words) {
  nb::gil_scoped_release release;
  hardwire::encode(raw.data(), raw.shape(0), raw.shape(1), thresholds.data(), thresholds.shape(1), words.data());
}

void bind_packing(nb::module_& m) {
  m.def(
      "pack",
      [](Matrix<const std::uint8_t> x, Words words) {
        nb::gil_scoped_release release;
        hardwire::pack(x.data(), x.shape(0), x.shape(1), words.data());
      },
      nb::arg("x").noconvert(), nb::arg("words").noconvert());
  m.def(
      "pack_floats",
      [](Matrix<const float> x, float threshold, Words words) {
        nb::gil_scoped_release release;
        return hardwire::pack_floats(x.data(), x.shape(0), x.shape(1), threshold, words.data());
      },
      nb::arg("x").noconvert(), nb::arg("threshold"), nb::arg("words").noconvert());
  m.def(
      "unpack",
      [](ConstWords words, Matrix<std::uint8_t> x) {
        nb::gil_scoped_release release;
        hardwire::unpack(words.data(), x.shape(0), x.shape(1), x.data());
      },
      nb::arg("words").noconvert(), nb::arg("x").noconvert());
  m.def(
      "transpose",
      [](ConstWords words, std::size_t features, Words out) {
        nb::gil_scoped_release release;
        hardwire::transpose(words.data(), words.shape(0), features, out.data(), out.shape(1));
      },
      nb::arg("words").noconvert(), nb::arg("features"), nb::arg("out").noconvert());
  m.def("encode_bytes", &encode<std::uint8_t>, nb::arg("raw").noconvert(), nb::arg("thresholds").noconvert(),
        nb::arg("words").noconvert());
  m.def("encode_floats", &encode<float>, nb::arg("raw").noconvert(), nb::arg("thresholds").noconvert(),
        nb::arg("words").noconvert());
}
