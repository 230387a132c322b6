"""From a trained network to a C file: simplified, proven equal, and compared with the network on every test image."""

import hardwire as hw

data = hw.data.load("digits")
net = hw.LogicNetwork(data.inputs, data.classes, width=300, depth=2, method="hard-st+cage", seed=0)
hw.fit(net, data, iterations=300, batch_size=100, lr=0.02, evaluate_every=300)  # fit takes the thresholds from `data`

circuit = hw.Circuit.from_network(net)
small = circuit.simplify()
print(f"{circuit}\n{small}\n{circuit.equivalent(small)}")

images = data.raw("test")  # bytes, as a camera delivers them; the circuit applies the thresholds itself
assert (small.predict(images, raw=True) == net.predict(data.test.x).numpy()).all()

for path in small.export("digits.c", main=True):  # main adds a small program that reads a file of images
    print(f"wrote {path}")
print("compile it into your program, or on its own: cc -O3 digits.c -o digits")
