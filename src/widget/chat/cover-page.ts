/**
 * Makes the page inert while the chat covers it, and fits the chat into the area that the on-screen keyboard leaves free.
 * @returns restores the page
 */
export function coverPage(container: HTMLElement): () => void {
	const { host } = container.getRootNode() as ShadowRoot;
	const lifetime = new AbortController();
	const { signal } = lifetime;
	const madeInert = new Set<HTMLElement>();
	// Includes other widgets of the page.
	const makeInert = () => {
		for (const element of document.querySelectorAll<HTMLElement>('body, parley-widget')) {
			if (element === host || element.inert) continue;
			element.inert = true;
			madeInert.add(element);
		}
	};
	makeInert();
	// The page may replace its body.
	const observer = new MutationObserver(makeInert);
	observer.observe(document.documentElement, { childList: true });
	const viewport = visualViewport;
	const fit = () => {
		// A visitor who zooms in wants larger text, not a smaller chat.
		if (!viewport || viewport.scale > 1.01) return;
		container.style.setProperty('--height', `${viewport.height}px`);
		container.style.setProperty('--top', `${viewport.offsetTop}px`);
	};
	fit();
	viewport?.addEventListener('resize', fit, { signal });
	viewport?.addEventListener('scroll', fit, { signal });
	return () => {
		lifetime.abort();
		observer.disconnect();
		for (const element of madeInert) element.inert = false;
	};
}

/** Moves the focus from the last focusable element to the first, and back, because the page behind is inert. */
export function trapFocus(event: KeyboardEvent, container: HTMLElement): void {
	const focusable = [...container.querySelectorAll<HTMLElement>('button, a, textarea, [tabindex="0"]')].filter(
		(element) => !element.matches(':disabled') && element.getClientRects().length > 0,
	);
	const first = focusable[0];
	const last = focusable[focusable.length - 1];
	const at = (container.getRootNode() as ShadowRoot).activeElement;
	if (at !== (event.shiftKey ? first : last)) return;
	event.preventDefault();
	(event.shiftKey ? last : first)?.focus();
}
