"""A training loop of your own in plain PyTorch: a DataLoader of packed bits, and four batches per optimizer step.

`hw.one_step` says which passes belong to one step, so that temperature, noise and step count change once for all four.
"""

import torch
from torch.nn import functional as F
from torch.utils.data import DataLoader

import hardwire as hw

EPOCHS, ACCUMULATE = 15, 4

torch.manual_seed(0)  # the order of the loader
data = hw.data.load("digits")
loader = DataLoader(data.train, batch_size=32, shuffle=True, drop_last=True)
net = hw.LogicNetwork(data.inputs, data.classes, width=400, depth=2, method="hard-st+cage", seed=0).train()
optimizer = torch.optim.Adam(net.parameters(), lr=0.02)

for _ in range(EPOCHS):
    batches = iter(loader)
    for group in zip(*[batches] * ACCUMULATE, strict=False):
        optimizer.zero_grad()
        with hw.one_step(net):
            for x, y in group:
                (F.cross_entropy(net(x), y) / ACCUMULATE).backward()
        optimizer.step()

steps = int(net.selector.steps)
print(f"{steps} steps of {ACCUMULATE} batches, temperature now {net.tau:.2f}")
print(f"{hw.measure_gap(net, data.test).deploy:.1%} of the test rows as a circuit")
assert steps == EPOCHS * (len(loader) // ACCUMULATE)
