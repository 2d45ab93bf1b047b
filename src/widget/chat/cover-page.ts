/**
 * Puts the page out of reach while the chat covers it, and keeps the chat in what the on-screen keyboard leaves.
 * @returns gives the page back
 */
export function coverPage(place: HTMLElement): () => void {
	const { host } = place.getRootNode() as ShadowRoot;
	const life = new AbortController();
	const { signal } = life;
	const behind = new Set<HTMLElement>();
	// The other widgets of the page too.
	const cover = () => {
		for (const element of document.querySelectorAll<HTMLElement>('body, parley-widget')) {
			if (element === host || element.inert) continue;
			element.inert = true;
			behind.add(element);
		}
	};
	cover();
	// A page that changes by itself may bring another body.
	const observer = new MutationObserver(cover);
	observer.observe(document.documentElement, { childList: true });
	const viewport = visualViewport;
	const fit = () => {
		// Who looks closer wants it larger, not the chat smaller.
		if (!viewport || viewport.scale > 1.01) return;
		place.style.setProperty('--height', `${viewport.height}px`);
		place.style.setProperty('--top', `${viewport.offsetTop}px`);
	};
	fit();
	viewport?.addEventListener('resize', fit, { signal });
	viewport?.addEventListener('scroll', fit, { signal });
	return () => {
		life.abort();
		observer.disconnect();
		for (const element of behind) element.inert = false;
	};
}

/** From the last thing on to the first, and back: the page behind is out of reach. */
export function keepInside(event: KeyboardEvent, place: HTMLElement): void {
	const reachable = [...place.querySelectorAll<HTMLElement>('button, a, textarea, [tabindex="0"]')].filter(
		(element) => !element.matches(':disabled') && element.getClientRects().length > 0,
	);
	const first = reachable[0];
	const last = reachable[reachable.length - 1];
	const at = (place.getRootNode() as ShadowRoot).activeElement;
	if (at !== (event.shiftKey ? first : last)) return;
	event.preventDefault();
	(event.shiftKey ? last : first)?.focus();
}
