/**
 * Puts the page out of reach while the chat covers it, and keeps the chat in what the on-screen keyboard leaves.
 * @returns gives the page back
 */
export function coverPage(place: HTMLElement): () => void {
	const { host } = place.getRootNode() as ShadowRoot;
	// The other widgets of the page too.
	const behind = [...document.querySelectorAll<HTMLElement>('body, parley-widget')].filter(
		(element) => element !== host && !element.inert,
	);
	for (const element of behind) element.inert = true;
	const viewport = visualViewport;
	const fit = () => {
		// Who looks closer wants it larger, not the chat smaller.
		if (!viewport || viewport.scale > 1.01) return;
		place.style.setProperty('--height', `${viewport.height}px`);
		place.style.setProperty('--top', `${viewport.offsetTop}px`);
	};
	fit();
	viewport?.addEventListener('resize', fit);
	viewport?.addEventListener('scroll', fit);
	return () => {
		for (const element of behind) element.inert = false;
		viewport?.removeEventListener('resize', fit);
		viewport?.removeEventListener('scroll', fit);
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
