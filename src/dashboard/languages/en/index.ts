import type { Strings } from '../strings.ts';
import { assistants } from './assistants.ts';
import { shell } from './shell.ts';

const en: Strings = { ...shell, assistantPages: assistants };
export default en;
