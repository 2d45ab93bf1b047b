import type { Description, MediaType, Operation, OperationAtPath, Parameter, ResponseObject } from './description.ts';
import { codeBlock, disclosure, element } from './dom.ts';
import { inline, markdown } from './markdown.ts';
import { type Credential, requestForm } from './request-form.ts';
import { memberView, schemaView } from './schema-view.ts';

/** An operation: a line that opens to its whole description, with a form to send a request. */
export function operationView(
	description: Description,
	operation: OperationAtPath,
	credential: Credential,
): HTMLDetailsElement {
	const { operationId, method, path, summary } = operation;
	const head = element(
		'h3',
		{},
		element('span', { class: `method ${method.toLowerCase()}` }, method),
		' ',
		element('code', {}, path),
		' ',
		element('span', { class: 'summary' }, summary),
	);
	return disclosure({ id: operationId, class: 'operation' }, [head], () => [
		...operationDetails(description, operation),
		element('h4', {}, 'Try it'),
		requestForm(description, operation, credential),
	]);
}

/** An event that the server sends to webhook endpoints. */
export function eventView(description: Description, type: string, operation: Operation): HTMLDetailsElement {
	const head = element(
		'h3',
		{},
		element('code', {}, type),
		' ',
		element('span', { class: 'summary' }, operation.summary),
	);
	return disclosure({ id: operation.operationId, class: 'operation' }, [head], () =>
		operationDetails(description, operation),
	);
}

function operationDetails(description: Description, operation: Operation): HTMLElement[] {
	const parameters = operation.parameters.map((each) => description.resolve<Parameter>(each));
	const bodies = Object.entries(operation.requestBody?.content ?? {});
	return [
		...markdown(operation.description ?? ''),
		...(credentialsOf(operation) === '' ? [] : [element('p', {}, ...inline(credentialsOf(operation)))]),
		...(parameters.length === 0 ? [] : [element('h4', {}, 'Parameters'), parametersView(description, parameters)]),
		...bodies.flatMap(([type, media]) => [
			element('h4', {}, 'Body ', element('code', {}, type)),
			...markdown(operation.requestBody?.description ?? ''),
			schemaView(description, media.schema),
			...examplesView(description, media),
		]),
		element('h4', {}, 'Answers'),
		...Object.entries(operation.responses).map(([status, response]) =>
			responseView(description, status, description.resolve<ResponseObject>(response)),
		),
	];
}

const CREDENTIALS: Readonly<Record<string, string>> = {
	apiKey: 'an API key (`Authorization: Bearer sk_…`)',
	session: 'a session cookie',
	visitorToken: 'a visitor’s token where the deployment requires it',
};

function credentialsOf({ security }: Operation): string {
	const names = security.flatMap((schemes) => Object.keys(schemes)).map((name) => CREDENTIALS[name] ?? name);
	return names.length === 0 ? '' : `Needs ${names.join(' or ')}.`;
}

function parametersView(description: Description, parameters: Parameter[]): HTMLElement {
	const members = parameters.flatMap(({ name, schema, required, in: location, description: text }) =>
		memberView(description, name, { ...schema, ...(text ? { description: text } : {}) }, required, location),
	);
	return element('dl', { class: 'members' }, ...members);
}

function responseView(
	description: Description,
	status: string,
	{ description: text, headers, content }: ResponseObject,
): HTMLElement {
	const [first = '', ...remaining] = text.split('\n\n');
	const isError = Number(status) >= 400;
	return disclosure({}, [element('strong', {}, status), ' ', ...inline(first), remaining.length > 0 && ' …'], () => [
		...markdown(remaining.join('\n\n')),
		...(headers ? [element('p', { class: 'soft' }, `Headers: ${Object.keys(headers).join(', ')}`)] : []),
		...Object.entries(content ?? {}).flatMap(([type, media]) => [
			element('p', { class: 'soft' }, type),
			// All errors have the envelope, which the introduction shows.
			...(isError ? [] : [schemaView(description, media.schema)]),
			...examplesView(description, media),
		]),
	]);
}

function examplesView(description: Description, media: MediaType): HTMLElement[] {
	return description
		.examples(media)
		.map(([title, value]) =>
			disclosure({}, [title === 'Example' ? title : `Example: ${title}`], () => [
				codeBlock(JSON.stringify(value, null, 2)),
			]),
		);
}
