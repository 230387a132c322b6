// Runs the tests of the native code with the instruction set that HARDWIRE_ISA names.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "error.hpp"
#include "kernels.hpp"

void test_engine();
void test_circuits();

int main(int, char** arguments) {
  try {
    hardwire::kernels();
  } catch (const hardwire::Error& error) {
    std::printf("%s: %s\n", arguments[0], error.what());
    return std::string(error.what()).find("lacks") == std::string::npos;  // a lesser processor is no failure
  }
  test_engine();
  test_circuits();
  std::printf("engine and circuits with %s kernels: all well\n", hardwire::kernels().name);
}
