import { may } from '../../app/session.ts';

/** Whether the signed-in person may change knowledge bases. Others only read them. */
export function mayWrite(): boolean {
	return may('knowledge_bases:write');
}
