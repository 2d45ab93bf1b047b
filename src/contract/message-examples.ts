// Examples of messages for the documentation: a question and its answer.

const ID = '06gzhmza00001mjww6bbdevcx5ss2c8f';

const question = {
	id: 'msg_06gzhmz9zw001mjx0t3m2q8d4kfy7v1e',
	conversation_id: `conv_${ID}`,
	role: 'user',
	author: { type: 'visitor', name: null },
	content: 'How many days do I have to return an order?',
	status: 'completed',
	citations: [],
	error: null,
	feedback: null,
	created_at: '2026-11-20T12:00:00.000Z',
	completed_at: '2026-11-20T12:00:00.000Z',
	tool_calls: [],
};

const answer = {
	id: `msg_${ID}`,
	conversation_id: `conv_${ID}`,
	role: 'assistant',
	author: { type: 'model', name: null },
	content: 'You have 45 days to return an order. [1]',
	status: 'completed',
	citations: [
		{
			index: 1,
			document_id: `doc_${ID}`,
			title: 'Shipping and returns',
			url: null,
			page: null,
			text: 'You have 45 days from the day of delivery to return an order.',
			score: 0.83,
		},
	],
	error: null,
	feedback: null,
	created_at: '2026-11-20T12:00:00.100Z',
	completed_at: '2026-11-20T12:00:00.400Z',
	tool_calls: [],
};

/** Fields of a message that the API shows and the visitor does not see. */
const apiOnlyFields = {
	feedback_comment: null,
	model: 'builtin/extractive',
	usage: { input_tokens: 412, output_tokens: 12 },
	answered_by: 'documents',
	first_token_ms: 180,
	duration_ms: 300,
	cost_micros: 0,
};
const apiOnlyFieldsOfQuestion = {
	feedback_comment: null,
	model: null,
	usage: null,
	answered_by: null,
	first_token_ms: null,
	duration_ms: null,
	cost_micros: null,
};

const citedChunk = { knowledge_base_id: `kb_${ID}`, chunk_id: `doc_${ID}.4` };
const citations = answer.citations.map((citation) => ({ ...citation, ...citedChunk }));

export const messageExample = { ...answer, citations, ...apiOnlyFields };
export const replyExample = { ...messageExample, user_message: { ...question, ...apiOnlyFieldsOfQuestion } };
export const widgetMessageExample = answer;
export const widgetReplyExample = { ...answer, user_message: question };
