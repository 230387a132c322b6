-- A study's results. Every number of every report comes from these tables.
CREATE TABLE descriptions (      -- the TOML files that were run on this store
  text TEXT PRIMARY KEY, name TEXT NOT NULL, code TEXT NOT NULL, added TEXT NOT NULL
);
CREATE TABLE runs (              -- one row for each run that was started
  key TEXT PRIMARY KEY,          -- hash of the whole configuration and the code version
  dataset TEXT NOT NULL, method TEXT NOT NULL, tau REAL NOT NULL, depth INTEGER NOT NULL, width INTEGER NOT NULL,
  iterations INTEGER NOT NULL, learning_rate REAL NOT NULL, batch_size INTEGER NOT NULL,
  evaluate_every INTEGER NOT NULL, seed INTEGER NOT NULL,
  code TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('running', 'interrupted', 'failed', 'done')),
  attempts INTEGER NOT NULL,     -- how often it was started or went on from its checkpoint
  error TEXT,                    -- why it failed
  worker TEXT,                   -- host and process of the latest attempt
  started TEXT, finished TEXT,   -- UTC
  seconds REAL                   -- time spent training, over all attempts
);
CREATE TABLE records (           -- the history: accuracies are fractions, gaps their differences
  run TEXT NOT NULL REFERENCES runs(key), iteration INTEGER NOT NULL,
  loss REAL, method REAL, argmax REAL, deploy REAL, selection REAL, computation REAL, total REAL,
  tau REAL, confidence REAL, seconds REAL,
  PRIMARY KEY (run, iteration)
) WITHOUT ROWID;
CREATE TABLE layers (            -- the part of the history that has a value for each layer
  run TEXT NOT NULL REFERENCES runs(key), iteration INTEGER NOT NULL, layer INTEGER NOT NULL,
  commitment REAL, node_actual REAL, node_bound REAL,
  gate_usage TEXT,               -- JSON list of 16 shares, in the paper's order of gates
  PRIMARY KEY (run, iteration, layer)
) WITHOUT ROWID;
CREATE TABLE measurements (      -- what the theory is compared with, measured on the trained network
  run TEXT NOT NULL REFERENCES runs(key), quantity TEXT NOT NULL, value REAL,
  PRIMARY KEY (run, quantity)
) WITHOUT ROWID;
CREATE TABLE pixels (            -- how often each raw value, scaled to [0, 1], occurs in a dataset, both splits
  dataset TEXT NOT NULL, value REAL NOT NULL, count INTEGER NOT NULL,
  PRIMARY KEY (dataset, value)
) WITHOUT ROWID;
