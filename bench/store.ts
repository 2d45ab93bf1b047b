/**
 * npm run bench -- store
 *
 * Measures durable writes: commits a second through the store's entry point and the event-loop delay meanwhile; creates and reads of
 * the API over HTTP, creates in turns with the conventional server; and the memory of 100,000 resident conversations. The first run
 * creates 110,000 conversations. Apart from that it takes under a minute.
 */
import { startRequester } from './load/requester.ts';
import { Report } from './report/report.ts';
import { measureCommits } from './store/commits.ts';
import { manyConversations } from './store/many-conversations.ts';
import { measureResidents } from './store/residents.ts';
import { measureRest } from './store/rest.ts';

await using data = await manyConversations();
using requester = startRequester();
const report = new Report('store');
report.add(...(await measureCommits({ committers: [1, 16, 256], seconds: 1, rounds: 3 })));
report.add(...(await measureResidents(data, requester)));
report.add(...(await measureRest(data, requester, { seconds: 0.6, rounds: 3 })));
await report.close();
