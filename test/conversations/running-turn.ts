import assert from 'node:assert/strict';
import type { MessageForHuman, RunningTurn } from '../../src/conversations/index.ts';

/** A message to which the model writes a reply. */
export function requireRunningTurn(sent: RunningTurn | MessageForHuman): RunningTurn {
	assert.ok('reply' in sent, 'the model has the conversation');
	return sent;
}
