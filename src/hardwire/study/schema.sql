-- A study's results. Every number of every report comes from these tables.
CREATE TABLE descriptions (      -- the TOML files that were run on this store
  text TEXT PRIMARY KEY, name TEXT NOT NULL, code TEXT NOT NULL, added TEXT NOT NULL,
  digest TEXT NOT NULL           -- of the other columns
);
CREATE TABLE runs (              -- one row for each run that was started
  key TEXT PRIMARY KEY,          -- hash of the whole configuration and the code version
  kind TEXT NOT NULL,            -- of run: network, systems
  config TEXT NOT NULL,          -- JSON: a value for each axis; config ->> 'method' in a query
  code TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('running', 'interrupted', 'failed', 'done')),
  attempts INTEGER NOT NULL,     -- how often it was started or continued
  error TEXT,                    -- why it failed
  worker TEXT,                   -- host and process of the latest attempt
  started TEXT, finished TEXT,   -- UTC
  seconds REAL,                  -- time spent training, over all attempts
  digest TEXT NOT NULL           -- of the other columns but worker, and of the run's records and measurements
);
CREATE TABLE records (           -- the history of a run, a row for each evaluation
  run TEXT NOT NULL REFERENCES runs(key), iteration INTEGER NOT NULL,
  measured TEXT NOT NULL,        -- JSON: accuracies are fractions, gaps their differences; measured ->> 'deploy'
  PRIMARY KEY (run, iteration)
);
CREATE TABLE measurements (      -- what was measured once for a run, at its start or its end
  run TEXT NOT NULL REFERENCES runs(key), quantity TEXT NOT NULL, value REAL,
  PRIMARY KEY (run, quantity)
) WITHOUT ROWID;
CREATE TABLE facts (             -- what holds for many runs, such as how often each pixel value occurs in a dataset
  name TEXT PRIMARY KEY, value TEXT NOT NULL,  -- JSON
  digest TEXT NOT NULL           -- of the other columns
);
