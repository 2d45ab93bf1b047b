import { type Description, type Schema, schemaNameOf } from './description.ts';
import { disclosure, element } from './dom.ts';
import { markdown } from './markdown.ts';

/** A schema's members with their types, bounds and descriptions. */
export function schemaView(description: Description, given: Schema): HTMLElement {
	const { schema } = resolveNullable(description, given);
	const variants = schema.oneOf ?? schema.anyOf;
	if (variants) return variantsView(description, schema, variants);
	if (schema.allOf) return element('div', {}, ...schema.allOf.map((part) => schemaView(description, part)));
	if (schema.items) return schemaView(description, schema.items);
	const required = schema.required ?? [];
	const members = Object.entries(schema.properties ?? {}).flatMap(([name, member]) =>
		memberView(description, name, member, required.includes(name)),
	);
	if (members.length > 0) return element('dl', { class: 'members' }, ...members);
	return element('p', { class: 'soft' }, asSentence(typeOf(description, given)));
}

/** One member or parameter, as a term and its description. */
export function memberView(
	description: Description,
	name: string,
	member: Schema,
	required: boolean,
	from = '',
): HTMLElement[] {
	const { schema } = resolveNullable(description, member);
	const text = member.description ?? schema.description;
	const bounds = boundsOf(schema);
	return [
		element(
			'dt',
			{},
			element('code', {}, name),
			' ',
			element('span', { class: 'soft' }, [from, typeOf(description, member)].filter(Boolean).join(', ')),
			required && element('span', { class: 'required' }, ' required'),
		),
		element(
			'dd',
			{},
			...(text ? markdown(text) : []),
			bounds !== '' && element('p', { class: 'soft' }, bounds),
			hasMembers(description, schema) &&
				disclosure({}, [`Members of ${name}`], () => [schemaView(description, schema)]),
		),
	];
}

function variantsView(description: Description, { discriminator }: Schema, variants: Schema[]): HTMLElement {
	const parts = variants.map((variant, index) => {
		const { schema } = resolveNullable(description, variant);
		const tag = discriminator && schema.properties?.[discriminator.propertyName]?.const;
		const title = tag !== undefined ? `${discriminator?.propertyName}: ${tag}` : typeOf(description, variant);
		if (!hasMembers(description, schema)) return element('p', { class: 'soft' }, title);
		return disclosure({ open: index === 0 && variants.length === 1 }, [title], () => [schemaView(description, schema)]);
	});
	return element('div', {}, element('p', { class: 'soft' }, 'One of:'), ...parts);
}

/** The resolved schema, without the alternative null. */
function resolveNullable(description: Description, given: Schema): { schema: Schema; nullable: boolean } {
	const schema = description.resolve<Schema>(given as Schema & { $ref: string });
	const others = schema.anyOf?.filter(({ type }) => type !== 'null');
	const [only] = others ?? [];
	if (others?.length !== 1 || !only) return { schema, nullable: [schema.type].flat().includes('null') };
	return { schema: description.resolve<Schema>(only as Schema & { $ref: string }), nullable: true };
}

function hasMembers(description: Description, schema: Schema): boolean {
	if (schema.properties || schema.oneOf || schema.allOf) return true;
	return schema.items !== undefined && hasMembers(description, resolveNullable(description, schema.items).schema);
}

function typeOf(description: Description, given: Schema): string {
	const { schema, nullable } = resolveNullable(description, given);
	const types = [schema.type ?? []].flat().filter((type) => type !== 'null');
	const choices = schema.anyOf?.map((each) => typeOf(description, each)) ?? types;
	const name =
		schema.const !== undefined
			? JSON.stringify(schema.const)
			: schema.items
				? `array of ${typeOf(description, schema.items)}`
				: (schemaNameOf(given) ?? (choices.join(' or ') || 'anything'));
	return nullable ? `${name} or null` : name;
}

/** The constraints of a value besides its type, in words. */
function boundsOf(schema: Schema): string {
	const { minLength, maxLength, minimum, maximum, minItems, maxItems, format, pattern } = schema;
	const values = schema.enum?.filter((value) => value !== null).map((value) => String(value));
	const parts = [
		values && `One of ${values.join(', ')}`,
		boundsText(minLength, maxLength, 'characters'),
		boundsText(minimum, maximum, ''),
		boundsText(minItems, maxItems, 'items'),
		format && `Format ${format}`,
		pattern && `Pattern ${pattern}`,
		schema.default !== undefined && `Default ${JSON.stringify(schema.default)}`,
	];
	return parts.filter(Boolean).join(' · ');
}

function boundsText(low: number | undefined, high: number | undefined, unit: string): string | undefined {
	if (low === undefined && high === undefined) return undefined;
	const range = high === undefined ? `At least ${low}` : low === undefined ? `At most ${high}` : `${low} to ${high}`;
	return `${range} ${unit}`.trim();
}

function asSentence(text: string): string {
	return `${text[0]?.toUpperCase()}${text.slice(1)}.`;
}
