// The Python face of the native code. Shapes and dtypes are checked by the Python side that calls these functions
// (hardwire.packing); here they are taken as given, and outputs are written into arrays that the caller made.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "packing.hpp"

namespace nb = nanobind;

template <class T>
using Matrix = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Words = Matrix<std::uint64_t>;
using ConstWords = Matrix<const std::uint64_t>;

NB_MODULE(_native, m) {
  m.doc() = "C++ side of hardwire: bit packing";
  m.def(
      "pack",
      [](Matrix<const std::uint8_t> x, Words words) {
        nb::gil_scoped_release release;
        hardwire::pack(x.data(), x.shape(0), x.shape(1), words.data());
      },
      nb::arg("x").noconvert(), nb::arg("words").noconvert());
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
        hardwire::transpose(words.data(), words.shape(0), features, out.data());
      },
      nb::arg("words").noconvert(), nb::arg("features"), nb::arg("out").noconvert());
  m.def(
      "encode_bytes",
      [](Matrix<const std::uint8_t> raw, Matrix<const float> thresholds, Words words) {
        nb::gil_scoped_release release;
        hardwire::encode(raw.data(), raw.shape(0), raw.shape(1), thresholds.data(), thresholds.shape(1), words.data());
      },
      nb::arg("raw").noconvert(), nb::arg("thresholds").noconvert(), nb::arg("words").noconvert());
  m.def(
      "encode_floats",
      [](Matrix<const float> raw, Matrix<const float> thresholds, Words words) {
        nb::gil_scoped_release release;
        hardwire::encode(raw.data(), raw.shape(0), raw.shape(1), thresholds.data(), thresholds.shape(1), words.data());
      },
      nb::arg("raw").noconvert(), nb::arg("thresholds").noconvert(), nb::arg("words").noconvert());
}
