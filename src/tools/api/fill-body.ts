import type { TemplateFiller } from '../placeholders.ts';

/**
 * A JSON body with its placeholders filled in. A text that is one placeholder becomes the argument itself, of any type;
 * within a longer text the argument is written as text. A value with a missing argument is removed from its object or list;
 * undefined where it is the whole body.
 */
export function fillBody(template: unknown, filler: TemplateFiller): unknown {
	if (typeof template === 'string') {
		const argument = filler.soleArgument(template);
		return argument ? argument.value : filler.fillText(template);
	}
	if (Array.isArray(template)) {
		return template.map((item) => fillBody(item, filler)).filter((item) => item !== undefined);
	}
	if (typeof template !== 'object' || template === null) return template;
	const members = Object.entries(template).map(([name, member]) => [name, fillBody(member, filler)] as const);
	// `fromEntries` defines members instead of assigning them: a member called __proto__ stays data.
	return Object.fromEntries(members.filter(([, member]) => member !== undefined));
}
