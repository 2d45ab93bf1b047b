import type { Strings } from '../strings.ts';
import { assistants } from './assistants.ts';
import { parts } from './parts.ts';
import { shell } from './shell.ts';

const de: Strings = {
	...shell,
	parts,
	assistantPages: assistants,
};
export default de;
