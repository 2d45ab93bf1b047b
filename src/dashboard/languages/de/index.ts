import type { Strings } from '../strings.ts';
import { assistants } from './assistants.ts';
import { shell } from './shell.ts';

const de: Strings = { ...shell, assistantPages: assistants };
export default de;
