import type { WidgetOptions } from '../public.d.ts';

/** The options in the `data-` attributes of a script element; null if it names no deployment. */
export function optionsOf(script: HTMLScriptElement): WidgetOptions | null {
	const { deploymentId, baseUrl, open, position, theme, language, color, title, launcher } = script.dataset;
	if (!deploymentId) return null;
	return {
		deploymentId,
		baseUrl: baseUrl ?? script.src,
		open: open !== undefined && open !== 'false',
		position: oneOf(position, ['bottom-right', 'bottom-left']),
		theme: oneOf(theme, ['light', 'dark', 'auto']),
		language,
		color,
		title,
		launcher: launcher !== 'false',
	};
}

function oneOf<T extends string>(value: string | undefined, known: readonly T[]): T | undefined {
	return known.find((one) => one === value);
}
