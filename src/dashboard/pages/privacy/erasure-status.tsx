import { Status } from '../../components/status.tsx';
import { strings } from '../../languages/index.ts';
import type { Erasure } from './queries.ts';

/** The state of an erasure in a word. */
export function ErasureStatus({ status }: Pick<Erasure, 'status'>) {
	return <Status tone={status === 'done' ? 'green' : 'amber'}>{strings().privacyPages[`status_${status}`]}</Status>;
}
