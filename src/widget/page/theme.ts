/** The colour scheme that a page declares by `color-scheme` in its styles or its head; null: it follows the system. */
export function declaredScheme(): 'light' | 'dark' | null {
	const style = getComputedStyle(document.documentElement).colorScheme;
	const meta = document.querySelector<HTMLMetaElement>('meta[name="color-scheme"]')?.content;
	const words = (style && style !== 'normal' ? style : (meta ?? '')).split(/\s+/);
	const [light, dark] = [words.includes('light'), words.includes('dark')];
	return light === dark ? null : dark ? 'dark' : 'light';
}

/** Calls a function when the declared scheme may have changed, usually by an attribute of the root element. */
export function watchScheme(onChanged: () => void, signal: AbortSignal): void {
	let previous = declaredScheme();
	const observer = new MutationObserver(() => {
		const now = declaredScheme();
		// Pages that scroll or animate may change these attributes in each frame.
		if (now !== previous) onChanged();
		previous = now;
	});
	observer.observe(document.documentElement, { attributes: true });
	signal.addEventListener('abort', () => observer.disconnect());
}
