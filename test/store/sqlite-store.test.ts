import { workerEntry } from '../../src/pool/index.ts';
import { openSqliteStore } from '../../src/store/index.ts';
import { storeContract } from './contract.ts';

storeContract((dataDir) => openSqliteStore({ dataDir, writer: workerEntry('store') }));
