import assert from 'node:assert/strict';
import type { NotedMessage, SentMessage } from '../../src/conversations/index.ts';

/** A message to which the model writes a reply. */
export function toModel(sent: SentMessage | NotedMessage): SentMessage {
	assert.ok('reply' in sent, 'the model has the conversation');
	return sent;
}
