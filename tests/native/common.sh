# What the scripts here begin with: where things are, a folder for what is built, and the gate table that a build writes.
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
native=$root/src/native
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python=${PYTHON:-python3}
"$python" "$native/make_gate_table.py" "$root/src/hardwire/gates/table.py" "$work/gate_table.hpp"
# All but the bindings, and the kernels, which are built for each instruction set.
sources=$(ls "$native"/*.cpp | grep -v -e bind_ -e module.cpp -e kernels.cpp)
