/** The first that a User-Agent has: later browsers name the earlier ones, too. */
const BROWSERS = [
	['Edg', 'Edge'],
	['OPR', 'Opera'],
	['Firefox', 'Firefox'],
	['Chrome', 'Chrome'],
	['Safari', 'Safari'],
] as const;
const SYSTEMS = [
	['Android', 'Android'],
	['iPhone', 'iOS'],
	['iPad', 'iPadOS'],
	['Windows', 'Windows'],
	['Mac OS X', 'macOS'],
	['CrOS', 'ChromeOS'],
	['Linux', 'Linux'],
] as const;

/** The browser and system that a User-Agent names; null where it names none that is known. */
export function browserOf(userAgent: string | null): { browser: string; system: string } | null {
	const nameIn = (known: readonly (readonly [string, string])[]) =>
		known.find(([mark]) => userAgent?.includes(mark))?.[1];
	const [browser, system] = [nameIn(BROWSERS), nameIn(SYSTEMS)];
	return browser && system ? { browser, system } : null;
}
