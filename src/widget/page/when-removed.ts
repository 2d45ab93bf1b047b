/**
 * Calls a function once when a node leaves the page, however that happens; moving it within the page is not leaving.
 * Only the children of its ancestors are observed: a page that changes a lot elsewhere costs nothing.
 * @param signal ends the watch
 */
export function whenRemoved(node: Node, onRemoved: () => void, signal: AbortSignal): void {
	const observer = new MutationObserver(() => check());
	const check = () => {
		observer.disconnect();
		if (signal.aborted) return;
		if (!node.isConnected) return onRemoved();
		for (let parent = node.parentNode; parent; parent = parent.parentNode)
			observer.observe(parent, { childList: true });
	};
	signal.addEventListener('abort', () => observer.disconnect());
	check();
}
