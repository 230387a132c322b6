"""From finished runs to the tables of the paper: groups, tables, statistics, convergence."""
