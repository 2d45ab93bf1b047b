import type { Strings } from '../strings.ts';
import { assistants } from './assistants.ts';
import { parts } from './parts.ts';
import { shell } from './shell.ts';

const en: Strings = {
	...shell,
	parts,
	assistantPages: assistants,
};
export default en;
