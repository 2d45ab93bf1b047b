import { Field } from '../../components/field.tsx';
import { fill, locale, strings } from '../../languages/index.ts';
import { contrastOf, sixDigits } from './contrast.ts';

/** The widget's surfaces in its light and its dark theme. */
const SURFACES = { light: '#ffffff', dark: '#1b1c22' } as const;
/** The least contrast of a shape with what is behind it (WCAG 2.2, 1.4.11). */
const MIN_CONTRAST = 3;

/** The brand's colour, with a warning where it is hard to see. */
export function ColourField({
	value,
	error,
	onChange,
}: {
	value: string;
	error: string | null | undefined;
	onChange: (colour: string) => void;
}) {
	const t = strings().deploymentPages;
	const colour = sixDigits(value);
	const warning = colour === null ? null : contrastWarning(colour);
	return (
		<Field
			label={t.colour}
			hint={warning ? undefined : t.colourHint}
			error={error ?? (colour === null ? t.colourWrong : null)}
		>
			{(ids) => (
				<>
					<span class="colour">
						<input
							type="color"
							aria-label={t.colourPicker}
							value={colour ?? '#000000'}
							onInput={(event) => onChange(event.currentTarget.value)}
						/>
						<input
							{...ids}
							type="text"
							maxLength={7}
							spellcheck={false}
							value={value}
							onInput={(event) => onChange(event.currentTarget.value.trim())}
						/>
					</span>
					{warning && (
						<p class="notice" role="status">
							{warning}
						</p>
					)}
				</>
			)}
		</Field>
	);
}

function contrastWarning(colour: string): string | null {
	const t = strings().deploymentPages;
	for (const theme of ['light', 'dark'] as const) {
		const contrast = contrastOf(colour, SURFACES[theme]);
		if (contrast >= MIN_CONTRAST) continue;
		const ratio = contrast.toLocaleString(locale.value, { maximumFractionDigits: 1 });
		return fill(theme === 'light' ? t.contrastOnLight : t.contrastOnDark, { ratio });
	}
	return null;
}
