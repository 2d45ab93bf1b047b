import type { Filling } from '../placeholders.ts';

/**
 * A JSON body with its placeholders filled in. A text that is nothing but a placeholder becomes the argument itself, of
 * whatever type; within a longer text it is written as text. What speaks of an argument that is not given is left out of
 * its object or list; undefined where that is the whole.
 */
export function filledBody(template: unknown, filling: Filling): unknown {
	if (typeof template === 'string') {
		const alone = filling.alone(template);
		return alone ? alone.value : filling.text(template);
	}
	if (Array.isArray(template)) {
		return template.map((item) => filledBody(item, filling)).filter((item) => item !== undefined);
	}
	if (typeof template !== 'object' || template === null) return template;
	const members = Object.entries(template).map(([name, member]) => [name, filledBody(member, filling)] as const);
	// Defines members instead of assigning them: a member called __proto__ stays data.
	return Object.fromEntries(members.filter(([, member]) => member !== undefined));
}
