import type { Page } from 'playwright-core';

/**
 * The controls of a page that a pointer cannot reach: wider than the window, cut off by an element that does not scroll, or covered.
 * Of a page with a modal dialog, those of the dialog.
 */
const OUT_OF_REACH = `(() => {
	const problems = [];
	const nameOf = (control) => {
		const text = control.getAttribute('aria-label') || control.textContent.trim() || control.id || control.type || '';
		return control.localName + '.' + control.className + ' "' + text.slice(0, 40) + '"';
	};
	const isCutOff = (control, { left, right }) => {
		for (let element = control.parentElement; element !== null; element = element.parentElement) {
			const { overflowX } = getComputedStyle(element);
			if (overflowX === 'auto' || overflowX === 'scroll') return false;
			if (overflowX === 'visible') continue;
			const frame = element.getBoundingClientRect();
			if (left < frame.left - 1 || right > frame.right + 1) return true;
		}
		return false;
	};
	const modal = [...document.querySelectorAll('dialog:modal')].at(-1);
	const controls = (modal ?? document).querySelectorAll(
		'a[href], button, input:not([type=hidden]), select, textarea, summary, iframe, [tabindex="0"]',
	);
	for (const control of controls) {
		if (!control.checkVisibility({ visibilityProperty: true })) continue;
		const before = control.getBoundingClientRect();
		// For screen readers only, or shown with the focus.
		if (before.width <= 1 || before.height <= 1 || control.matches('.skip')) continue;
		if (isCutOff(control, before)) problems.push('cut off: ' + nameOf(control));
		control.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
		const { left, right } = control.getBoundingClientRect();
		if (left < -1 || right > innerWidth + 1) {
			problems.push('wider than the window: ' + nameOf(control));
			continue;
		}
		// A link may go over several lines.
		const line = control.getClientRects()[0];
		const y = Math.min(Math.max((line.top + line.bottom) / 2, 0), innerHeight - 1);
		const hit = document.elementFromPoint((line.left + line.right) / 2, y);
		const labels = [...(control.labels ?? [])];
		const isHit = control.contains(hit) || labels.some((label) => label.contains(hit));
		if (!isHit) problems.push('covered by ' + (hit ? nameOf(hit) : 'nothing') + ': ' + nameOf(control));
	}
	scrollTo(0, 0);
	return { seen: controls.length, problems };
})()`;

/** How many controls a page has, and those that a pointer cannot reach. */
export const outOfReach = (page: Page): Promise<{ seen: number; problems: string[] }> => page.evaluate(OUT_OF_REACH);
