/**
 * npm run bench -- store
 *
 * What is on disk before it is told: durable commits a second through the store's face and the event-loop delay meanwhile;
 * creates and reads of the API over HTTP, creates beside those of the conventional server; and the memory of 100,000 resident
 * conversations. Makes 110,000 conversations at its first run. Takes under a minute besides.
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
