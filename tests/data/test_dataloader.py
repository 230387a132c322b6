"""Splits and packed bits in a torch DataLoader, with its own collating, shuffling and worker processes."""

import pytest
import torch
from small_runs import digits
from torch.utils.data import DataLoader, Subset

import hardwire as hw
from hardwire.data import Rows


@pytest.mark.parametrize("workers", [0, 2])
def test_a_loader_of_a_split_of_bits_gives_batches_of_bits(workers):
    split = digits().test
    batches = list(DataLoader(split, batch_size=64, num_workers=workers))
    assert [len(x) for x, _ in batches] == [64] * 7 + [2]
    assert all(isinstance(x, hw.Bits) and y.dtype == torch.int64 for x, y in batches)
    assert torch.equal(torch.cat([x.words for x, _ in batches]), split.x.words)
    assert torch.equal(torch.cat([y for _, y in batches]), split.y)


def test_a_shuffled_loader_gives_every_row_once_with_its_own_label():
    split = digits().test
    torch.manual_seed(0)
    batches = list(DataLoader(split, batch_size=100, shuffle=True))
    words, y = torch.cat([x.words for x, _ in batches]), torch.cat([y for _, y in batches])
    assert not torch.equal(y, split.y)
    rows = sorted((bytes(row.numpy()), int(label)) for row, label in zip(words, y, strict=True))
    assert rows == sorted((bytes(row.numpy()), int(label)) for row, label in zip(split.x.words, split.y, strict=True))


def test_bits_alone_parts_of_a_split_and_rows_of_floats_load_too():
    bits = digits().test.x
    (batch,) = DataLoader(bits, batch_size=450)
    assert isinstance(batch, hw.Bits) and torch.equal(batch.words, bits.words)
    x, _ = next(iter(DataLoader(Subset(digits().test, [5, 3]), batch_size=2)))
    assert torch.equal(x.words, bits.words[[5, 3]])
    rows = Rows(torch.rand(6, 1, 3, 3), torch.rand(6))
    x, y = next(iter(DataLoader(rows, batch_size=4)))
    assert torch.equal(x, rows.x[:4]) and torch.equal(y, rows.y[:4])


def test_fit_trains_from_a_loader_of_bits_as_from_the_same_batches_by_hand():
    data = digits()
    nets = [hw.LogicNetwork(320, 10, 50, 1, seed=0) for _ in range(2)]
    loader = DataLoader(data.train.part(slice(200)), batch_size=50)
    history = hw.fit(nets[0], loader, epochs=2, validation=data.validation, batch_size=1)
    optimizer = torch.optim.Adam(nets[1].parameters(), lr=0.01, fused=True)
    for _ in range(2):
        for start in range(0, 200, 50):
            x, y = data.train.batch(slice(start, start + 50))
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(nets[1](x), y).backward()
            optimizer.step()
    assert torch.equal(nets[0].layers[0].logits, nets[1].layers[0].logits)
    assert history.final.iteration == 8 and history.best.deploy == max(history.column("deploy"))
