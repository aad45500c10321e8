// Setup file of every test file. Files that share a worker each load the harness again, and with it one listener that ends
// child processes when the worker ends. Node takes more than ten of them for a leak.
process.setMaxListeners(1_000);
