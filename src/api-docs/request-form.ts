import type { Description, MediaType, OperationAtPath, Parameter, Schema } from './description.ts';
import { codeBlock, element } from './dom.ts';

/** Returns the reader's API key at the time of a request. It is kept in the page's memory only. */
export type Credential = () => string;

/** Characters of a response that are shown. */
const MAX_SHOWN_CHARS = 200_000;
/** Headers that only browsers set. */
const BROWSER_HEADERS = ['Origin'];

interface Request {
	url: string;
	headers: Record<string, string>;
	body: string | FormData | undefined;
}

/** The inputs of an operation's form. */
interface FormInputs {
	parameters: Array<{ parameter: Parameter; input: HTMLInputElement | HTMLSelectElement }>;
	/** The visitor's token, for operations that accept one. */
	token: HTMLInputElement | HTMLSelectElement | undefined;
	body: BodyFields;
}

let fieldCount = 0;

/** A form that sends the operation's request, with the same request for the command line. */
export function requestForm(description: Description, operation: OperationAtPath, credential: Credential): HTMLElement {
	const inputs = inputsOf(description, operation);
	const { parameters, token, body } = inputs;
	const read = () => readRequest(operation, inputs, credential);
	const curl = codeBlock('');
	const send = element('button', { type: 'submit' }, 'Send');
	const stop = element('button', { type: 'button', class: 'plain', hidden: true }, 'Stop');
	const status = element('p', { role: 'status' });
	const responseElement = element('div', {});
	const form = element(
		'form',
		{ novalidate: true },
		...parameters.map(({ parameter, input }) => labelledField(parameter.name, input, parameter.required)),
		token && labelledField('Visitor’s token', token, false),
		...body.elements,
		element('p', { class: 'soft' }, 'On the command line:'),
		curl,
		element('p', { class: 'buttons' }, send, stop),
		status,
		responseElement,
	);
	const showCurl = () => {
		(curl.firstChild as HTMLElement).textContent = curlOf(operation.method, read());
	};
	form.addEventListener('input', showCurl);
	form.addEventListener('submit', async (event) => {
		event.preventDefault();
		const missing = parameters.find(({ parameter, input }) => parameter.required && input.value === '');
		responseElement.replaceChildren();
		if (missing) {
			status.textContent = `Fill in ${missing.parameter.name}.`;
			missing.input.focus();
			return;
		}
		const abortController = new AbortController();
		stop.onclick = () => abortController.abort();
		send.disabled = true;
		stop.hidden = false;
		status.textContent = 'Sent. Waiting for the response.';
		try {
			await sendAndShow(operation.method, read(), abortController.signal, status, responseElement);
		} catch (error) {
			status.textContent = abortController.signal.aborted
				? 'Stopped.'
				: `The server cannot be reached: ${(error as Error).message}`;
		}
		send.disabled = false;
		stop.hidden = true;
	});
	showCurl();
	return form;
}

function inputsOf(description: Description, operation: OperationAtPath): FormInputs {
	const parameters = operation.parameters
		.map((each) => description.resolve<Parameter>(each))
		.filter(({ name }) => !BROWSER_HEADERS.includes(name))
		.map((parameter) => ({ parameter, input: inputOf(parameter.schema, parameter.required) }));
	const token = operation.security.some((schemes) => 'visitorToken' in schemes) ? inputOf({}, false) : undefined;
	return { parameters, token, body: bodyOf(description, Object.entries(operation.requestBody?.content ?? {})) };
}

function readRequest(
	operation: OperationAtPath,
	{ parameters, token, body }: FormInputs,
	credential: Credential,
): Request {
	const valuesIn = (location: string) =>
		parameters
			.filter(({ parameter, input }) => parameter.in === location && input.value !== '')
			.map(({ parameter, input }) => [parameter.name, input.value] as [string, string]);
	const path = valuesIn('path').reduce(
		(filled, [name, value]) => filled.replace(`{${name}}`, encodeURIComponent(value)),
		operation.path,
	);
	const query = new URLSearchParams(valuesIn('query')).toString();
	const takesKey = operation.security.some((schemes) => 'apiKey' in schemes);
	const bearer = token?.value || (takesKey ? credential() : '');
	const content = body.read();
	return {
		// Behind a proxy the server may have a path prefix; this page is two segments below it.
		url: new URL(`..${path}`, location.href).href + (query === '' ? '' : `?${query}`),
		headers: {
			...Object.fromEntries(valuesIn('header')),
			...(bearer === '' ? {} : { Authorization: `Bearer ${bearer}` }),
			...(typeof content === 'string' ? { 'Content-Type': 'application/json' } : {}),
		},
		body: content,
	};
}

/** Sends a request and shows its response as it arrives. */
async function sendAndShow(
	method: string,
	request: Request,
	signal: AbortSignal,
	status: HTMLElement,
	responseElement: HTMLElement,
) {
	const started = performance.now();
	const { url, headers, body } = request;
	const response = await fetch(url, { method, headers, signal, ...(body === undefined ? {} : { body }) });
	const statusLine = () => `${response.status} ${response.statusText}, ${Math.round(performance.now() - started)} ms`;
	status.textContent = statusLine();
	const bodyBlock = codeBlock('');
	const text = bodyBlock.firstChild as HTMLElement;
	const names = [...response.headers].map(([name, value]) => `${name}: ${value}`);
	responseElement.append(
		element('p', { class: 'soft' }, 'Headers'),
		codeBlock(names.join('\n')),
		element('p', { class: 'soft' }, 'Body'),
		bodyBlock,
	);
	let received = '';
	const decoder = new TextDecoder();
	const reader = response.body?.getReader();
	for (;;) {
		const part = await reader?.read();
		if (!part || part.done) break;
		received += decoder.decode(part.value, { stream: true });
		text.textContent = received.slice(0, MAX_SHOWN_CHARS);
		if (received.length > MAX_SHOWN_CHARS) throw new Error('the response is longer than this page shows.');
	}
	text.textContent = prettyPrint(received);
	status.textContent = statusLine();
}

interface BodyFields {
	elements: HTMLElement[];
	read(): string | FormData | undefined;
}

/** The fields of a body: JSON as text, or a choice between JSON and a form for uploads. */
function bodyOf(description: Description, contents: Array<[type: string, media: MediaType]>): BodyFields {
	const forms = contents.map(([type, media]) =>
		type === 'application/json' ? jsonFields(description, media) : multipartFields(description, media),
	);
	const [first, ...others] = forms;
	if (!first) return { elements: [], read: () => undefined };
	if (others.length === 0) return first;
	const kind = element(
		'select',
		{},
		...contents.map(([type], index) => element('option', { value: String(index) }, type)),
	);
	const groups = forms.map(({ elements }, index) => element('div', { hidden: index > 0 }, ...elements));
	kind.addEventListener('change', () => {
		for (const [index, group] of groups.entries()) group.hidden = index !== Number(kind.value);
	});
	return {
		elements: [labelledField('Body as', kind, false), ...groups],
		read: () => forms[Number(kind.value)]?.read(),
	};
}

function jsonFields(description: Description, media: MediaType): BodyFields {
	const examples = description.examples(media);
	const text = element('textarea', { rows: '8', spellcheck: 'false' });
	text.value = prettyPrint(JSON.stringify(examples[0]?.[1] ?? {}));
	const choice = element(
		'select',
		{},
		...examples.map(([title], index) => element('option', { value: String(index) }, title)),
	);
	choice.addEventListener('change', () => {
		text.value = prettyPrint(JSON.stringify(examples[Number(choice.value)]?.[1]));
	});
	const elements = [
		...(examples.length > 1 ? [labelledField('Example', choice, false)] : []),
		labelledField('Body', text, true),
	];
	return { elements, read: () => (text.value.trim() === '' ? undefined : text.value) };
}

function multipartFields(description: Description, media: MediaType): BodyFields {
	const { properties = {}, required = [] } = description.resolve<Schema>(media.schema as Schema & { $ref: string });
	const inputs = Object.entries(properties).map(([name, schema]) => ({
		name,
		input: inputOf(schema, required.includes(name)),
	}));
	const read = () => {
		const form = new FormData();
		for (const { name, input } of inputs) {
			const file = input instanceof HTMLInputElement ? input.files?.[0] : undefined;
			if (file) form.append(name, file);
			else if (input.value !== '') form.append(name, input.value);
		}
		return form;
	};
	return { elements: inputs.map(({ name, input }) => labelledField(name, input, required.includes(name))), read };
}

function inputOf(schema: Schema, required: boolean): HTMLInputElement | HTMLSelectElement {
	if (schema.enum) {
		const options = schema.enum.map((value) => element('option', { value: String(value) }, String(value)));
		return element('select', {}, !required && element('option', { value: '' }, '–'), ...options);
	}
	if (schema.format === 'binary') return element('input', { type: 'file' });
	const example = schema.examples?.[0] ?? schema.default;
	const placeholder = example === undefined ? undefined : String(example);
	return element('input', { type: 'text', autocomplete: 'off', spellcheck: 'false', placeholder });
}

function labelledField(name: string, input: HTMLElement, required: boolean): HTMLElement {
	fieldCount += 1;
	input.id = `field-${fieldCount}`;
	if (required) input.setAttribute('aria-required', 'true');
	return element(
		'div',
		{ class: 'field' },
		element('label', { for: input.id }, name, required && element('span', { class: 'required' }, ' required')),
		input,
	);
}

function curlOf(method: string, { url, headers, body }: Request): string {
	const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
	const parts = [
		...Object.entries(headers).map(([name, value]) =>
			// The key must not appear on the screen or in a shell's history.
			name === 'Authorization' ? '-H "Authorization: Bearer $KEY"' : `-H ${quoted(`${name}: ${value}`)}`,
		),
		...(typeof body === 'string' ? [`-d ${quoted(body)}`] : []),
		...(body instanceof FormData
			? [...body].map(
					([name, value]) => `-F ${quoted(`${name}=${typeof value === 'string' ? value : `@${value.name}`}`)}`,
				)
			: []),
	];
	const verb = method === 'GET' ? [] : [`-X ${method}`];
	return ['curl', ...verb, quoted(url), ...parts].join(' \\\n  ').replace('curl \\\n  ', 'curl ');
}

/** JSON with one line per member; any other text unchanged. */
function prettyPrint(text: string): string {
	try {
		return JSON.stringify(JSON.parse(text), null, 2);
	} catch {
		return text;
	}
}
