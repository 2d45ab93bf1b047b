/** What the name of a model reveals. */
export interface ModelTraits {
	/** Tokens of an answer at most. The service refuses a request for more. */
	maxOutputTokens: number;
	/** Whether it accepts a temperature. */
	takesTemperature: boolean;
	/** Whether its limit is known. For other models it is a guess that is used only if the settings have none. */
	isKnown: boolean;
}

/** Parts of names. The first match counts. */
const KNOWN: ReadonlyArray<readonly [names: RegExp, maxOutputTokens: number, takesTemperature: boolean]> = [
	[/claude-(sonnet-5|opus-5|haiku-5-5|fable-5|opus-4-[78])/, 128_000, false],
	[/claude-(sonnet|opus)-4-6/, 128_000, true],
	[/claude-(sonnet|opus|haiku)-4-5/, 64_000, true],
	[/claude-opus-4-1/, 32_000, true],
	[/claude-sonnet-4-/, 64_000, true],
	[/claude-opus-4-/, 32_000, true],
	[/claude-3-haiku/, 4_096, true],
];
/** Models of the first generations, most of which the service has retired. */
const OLD = /claude-(?:instant(?:-|$)|v?2(?=$|[-.:])|3(?=$|[-.]))/;

/** The traits of a model by its name at the service. An unknown model is treated like the newest known ones. */
export function modelTraits(model: string): ModelTraits {
	const known = KNOWN.find(([names]) => names.test(model));
	if (known) return { maxOutputTokens: known[1], takesTemperature: known[2], isKnown: true };
	const isNew = model.includes('claude-') && !OLD.test(model);
	return { maxOutputTokens: isNew ? 128_000 : 4_096, takesTemperature: !isNew, isKnown: false };
}
