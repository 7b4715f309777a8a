import type { ComponentChildren } from 'preact'

/** A column of a table. */
export interface Column<R> {
  label: string
  /** The content of a cell. Without content, a narrow screen shows no label for it either. */
  cell: (row: R) => ComponentChildren
  /** `name` is the header of its row; the label of `actions` is hidden, since the buttons have their own. */
  kind?: 'name' | 'number' | 'note' | 'actions'
}

/** A table, which is a list of cards on a narrow screen. */
export const Table = <R,>({
  columns,
  rows,
  keyOf,
}: {
  columns: readonly Column<R>[]
  rows: readonly R[]
  keyOf: (row: R) => string
}) => (
  <table class="cards">
    <thead>
      <tr>
        {columns.map(({ label, kind }) => (
          <th key={label} scope="col" class={kind === 'number' ? kind : undefined}>
            {kind === 'actions' ? <span class="hidden">{label}</span> : label}
          </th>
        ))}
      </tr>
    </thead>
    <tbody>
      {rows.map((row) => (
        <tr key={keyOf(row)}>
          {columns.map((column) => (
            <Cell key={column.label} column={column} row={row} />
          ))}
        </tr>
      ))}
    </tbody>
  </table>
)

const Cell = <R,>({ column: { label, cell, kind }, row }: { column: Column<R>; row: R }) => {
  if (kind === 'name') return <th scope="row">{cell(row)}</th>
  if (kind === 'actions') return <td>{cell(row)}</td>
  return (
    <td data-label={label} class={kind}>
      {cell(row)}
    </td>
  )
}
