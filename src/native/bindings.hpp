// What every binding file shares. The Python callers check shapes and dtypes and give clear errors; the bindings take
// arrays as given, without a copy, and write results into arrays that the caller made.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <cstdint>

namespace nb = nanobind;

template <class T>
using Vector = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Matrix = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

void bind_packing(nb::module_& m);
void bind_engine(nb::module_& m);
void bind_circuit(nb::module_& m);
