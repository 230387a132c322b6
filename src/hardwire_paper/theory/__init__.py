"""The theory of the paper, computed and measured: computation gap, node and loss bounds, gradients, scaling."""
