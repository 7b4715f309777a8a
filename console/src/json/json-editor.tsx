import {
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
} from '@codemirror/autocomplete'
import { defaultKeymap } from '@codemirror/commands'
import { json, jsonParseLinter } from '@codemirror/lang-json'
import {
  bracketMatching,
  ensureSyntaxTree,
  foldGutter,
  foldKeymap,
  HighlightStyle,
  indentOnInput,
  syntaxHighlighting,
  syntaxTree,
} from '@codemirror/language'
import { type Diagnostic, linter, lintGutter, lintKeymap } from '@codemirror/lint'
import { EditorState, StateEffect } from '@codemirror/state'
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
} from '@codemirror/view'
import { tags } from '@lezer/highlight'
import { type Signal, useSignalEffect } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type { Remarks } from '../editor/remarks.ts'
import { type RemarkKind, remarkKinds } from '../elements/remark-texts.tsx'
import { texts } from '../texts.ts'
import { completeFromSchema } from './complete-from-schema.ts'
import { namesInField } from './field-path.ts'
import { nodeAt } from './positions.ts'

/** Longest time to parse a document before its end is reached. Milliseconds. */
const parseTimeoutMs = 500

const severities = { violations: 'error', warnings: 'warning' } as const satisfies Record<RemarkKind, string>

const remarksArrived = StateEffect.define<null>()

/** A form as JSON, completed by its schema, with remarks at their place. Undo is that of the form. */
export const JsonEditor = ({
  text,
  remarks,
  isReadOnly,
  onInput,
}: {
  text: Signal<string>
  remarks: Signal<Remarks>
  isReadOnly: boolean
  onInput: (text: string) => void
}) => {
  const host = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView>(undefined)

  useEffect(() => {
    // CodeMirror adds constructable style sheets to a shadow root, which the content security policy allows. To a
    // document it adds a <style> element, which the policy refuses.
    const root = host.current!.shadowRoot ?? host.current!.attachShadow({ mode: 'open' })
    const shown = new EditorView({
      root,
      parent: root,
      state: EditorState.create({
        doc: text.peek(),
        extensions: extensions(isReadOnly, remarks, onInput),
      }),
    })
    view.current = shown
    return () => shown.destroy()
  }, [isReadOnly])

  useSignalEffect(() => {
    const next = text.value
    if (view.current) replaceText(view.current, next)
  })
  useSignalEffect(() => {
    remarks.value
    view.current?.dispatch({ effects: remarksArrived.of(null) })
  })

  return <div ref={host} class="json-editor" />
}

const extensions = (isReadOnly: boolean, remarks: Signal<Remarks>, onInput: (text: string) => void) => [
  lineNumbers(),
  foldGutter(),
  lintGutter(),
  drawSelection(),
  indentOnInput(),
  bracketMatching(),
  closeBrackets(),
  highlightActiveLine(),
  highlightActiveLineGutter(),
  json(),
  syntaxHighlighting(highlighting),
  autocompletion({ override: [completeFromSchema(formSchema)] }),
  linter(jsonParseLinter(), { delay: 300 }),
  linter((view) => diagnosticsOf(view, remarks.peek()), {
    delay: 100,
    needsRefresh: ({ transactions }) =>
      transactions.some(({ effects }) => effects.some((effect) => effect.is(remarksArrived))),
  }),
  keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...foldKeymap, ...completionKeymap, ...lintKeymap]),
  EditorState.readOnly.of(isReadOnly),
  EditorView.editable.of(!isReadOnly),
  EditorView.contentAttributes.of({ 'aria-label': texts.edit.json, tabindex: '0' }),
  EditorView.updateListener.of(({ docChanged, state, transactions }) => {
    const isTyped = transactions.some((each) => each.isUserEvent('input') || each.isUserEvent('delete'))
    const isMoved = transactions.some((each) => each.isUserEvent('move'))
    if (docChanged && (isTyped || isMoved)) onInput(state.doc.toString())
  }),
  theme,
]

/** Replaces only what differs, so that the cursor and the folds stay. */
const replaceText = (view: EditorView, next: string): void => {
  const old = view.state.doc.toString()
  if (old === next) return
  let start = 0
  while (start < old.length && start < next.length && old[start] === next[start]) start++
  let end = 0
  const longest = Math.min(old.length, next.length) - start
  while (end < longest && old.at(-1 - end) === next.at(-1 - end)) end++
  view.dispatch({
    changes: { from: start, to: old.length - end, insert: next.slice(start, next.length - end) },
  })
}

const diagnosticsOf = (view: EditorView, remarks: Remarks): Diagnostic[] => {
  const { state } = view
  const tree = ensureSyntaxTree(state, state.doc.length, parseTimeoutMs) ?? syntaxTree(state)
  return remarkKinds.flatMap((kind) =>
    remarks[kind].map(({ field, description }) => {
      const { from, to } = nodeAt(tree.topNode, namesInField(field), (start, end) =>
        state.sliceDoc(start, end),
      )
      // A long value is marked on its first line only.
      return {
        from,
        to: Math.min(to, state.doc.lineAt(from).to),
        severity: severities[kind],
        message: `${field} ${description}`,
      }
    }),
  )
}

const highlighting = HighlightStyle.define([
  { tag: tags.propertyName, color: 'var(--code-name)' },
  { tag: tags.string, color: 'var(--code-string)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--code-literal)' },
])

/** Custom properties are those of the page, and so follow its light and dark colours. */
const theme = EditorView.theme({
  '&': { color: 'var(--text)', backgroundColor: 'var(--field)', height: '100%', fontSize: '0.85rem' },
  '.cm-content': { caretColor: 'var(--text)', fontFamily: 'var(--mono)' },
  '&.cm-focused': { outline: '2px solid var(--accent)' },
  '.cm-gutters': { backgroundColor: 'var(--page)', color: 'var(--muted)', border: 'none' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'var(--active-line)' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'var(--selection)',
  },
  '.cm-tooltip': { backgroundColor: 'var(--card)', color: 'var(--text)', border: '1px solid var(--line)' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': {
    backgroundColor: 'var(--accent)',
    color: 'var(--on-accent)',
  },
})
