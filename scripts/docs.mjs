// npm run docs: updates what is generated from the code: the list of operations, and example.env.
import { updateExampleEnv } from './example-env.mjs';
import { ensureInstalled } from './install.mjs';
import { updateOperations } from './openapi.mjs';
import { main } from './project.mjs';

await main(async () => {
	await ensureInstalled();
	await updateOperations();
	await updateExampleEnv();
});
