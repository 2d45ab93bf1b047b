// The widget as an ES module. It has no effect before `createWidget` is called.
export { createWidget } from './widget.ts';
