// A writer thread on a disk that does not answer: it starts, and never answers a task.
import { parentPort } from 'node:worker_threads';

parentPort.on('message', () => {});
parentPort.postMessage({ ready: true, fence: { shard: 'main', owner: 'test', epoch: 1 } });
