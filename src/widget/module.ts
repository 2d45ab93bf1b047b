// The widget as an ES module: nothing happens before `createWidget` is called.
export { createWidget } from './widget.ts';
