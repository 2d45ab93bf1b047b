import type { Appearance } from '../../contract/index.ts';
import type { WidgetOptions } from '../public.d.ts';
import { brandColours } from '../text/colours.ts';
import { declaredScheme } from './theme.ts';

const SURFACE_COLOURS = { light: '#ffffff', dark: '#1b1c22' };
const RAISED_COLOURS = { light: '#f3f4f7', dark: '#282a33' };
const DEFAULT_COLOUR = '#4f46e5';
/** Matches if the visitor's system uses a dark colour scheme. */
export const DARK_SCHEME_QUERY = '(prefers-color-scheme: dark)';
const COLOUR = /^#([0-9a-f]{3}|[0-9a-f]{6})$/i;

/** Sets theme, colours, font and corners of the frame. Options of the page override the deployment's. */
export function applyAppearance(frame: HTMLElement, options: WidgetOptions, appearance: Appearance | undefined): void {
	const { primary_color, theme, radius, font_family } = { ...appearance };
	const { dataset, style } = frame;
	const scheme = schemeOf(options.theme ?? theme);
	dataset.theme = scheme;
	dataset.radius = radius ?? 'medium';
	dataset.font = font_family ?? 'system';
	style.fontFamily = font_family === 'inherit' ? getComputedStyle(document.body).fontFamily : '';
	const colour = [options.color, primary_color].find((text) => COLOUR.test(text ?? '')) ?? DEFAULT_COLOUR;
	const surface = SURFACE_COLOURS[scheme];
	const raised = RAISED_COLOURS[scheme];
	for (const [name, value] of Object.entries({ surface, raised, ...brandColours(colour, surface, raised) })) {
		style.setProperty(`--${name}`, value);
	}
}

/** `auto` is the colour scheme that the page declares, otherwise that of the visitor's system. */
function schemeOf(theme: Appearance['theme'] = 'auto'): 'light' | 'dark' {
	if (theme !== 'auto') return theme === 'dark' ? 'dark' : 'light';
	return declaredScheme() ?? (matchMedia(DARK_SCHEME_QUERY).matches ? 'dark' : 'light');
}
