import type { Strings } from '../strings.ts';
import { assistants } from './assistants.ts';
import { parts } from './parts.ts';
import { shell } from './shell.ts';
import { eventNames, webhooks } from './webhooks.ts';

const en: Strings = {
	...shell,
	parts,
	assistantPages: assistants,
	webhookPages: webhooks,
	eventNames,
};
export default en;
