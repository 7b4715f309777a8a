import { boundText, figure } from './table.ts'
import { isMet, type Target } from './targets.ts'

const labelWidth = 320
const valueWidth = 140
const barsFrom = labelWidth + valueWidth
const rowHeight = 24
const headHeight = 40
/** Where bars are cut off, as a multiple of the target. */
const longest = 3
const unitWidth = 130
const width = barsFrom + longest * unitWidth + 10

/** Draws an SVG chart: a bar for each measured target, scaled so that a line marks the bound of all of them. */
export const drawChart = (targets: readonly Target[]): string => {
  const measured = targets.filter(({ value }) => value !== undefined)
  const height = headHeight + measured.length * rowHeight + 12
  const line = barsFrom + unitWidth
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="Each target and what was measured">
  <style>
    text { font: 13px system-ui, sans-serif; fill: #1f2937 }
    .small { font-size: 12px; fill: #4b5563 }
    .met { fill: #2f855a } .missed { fill: #c2410c }
    .line { stroke: #4b5563; stroke-dasharray: 4 3 }
    @media (prefers-color-scheme: dark) {
      text { fill: #e5e7eb } .small { fill: #9ca3af } .line { stroke: #9ca3af }
      .met { fill: #48bb78 } .missed { fill: #fb923c }
    }
  </style>
  <text class="small" x="${line}" y="16" text-anchor="middle">target</text>
  <text class="small" x="${line + 8}" y="32">right of it is met; bars end at ${longest} times the target</text>
  <line class="line" x1="${line}" y1="22" x2="${line}" y2="${height - 8}"/>
${measured.map((target, index) => bar(target, headHeight + index * rowHeight)).join('\n')}
</svg>
`
}

const bar = (target: Target, y: number): string => {
  const share = Math.min(longest, shareOf(target))
  const colour = isMet(target) ? 'met' : 'missed'
  return `  <text x="${labelWidth - 10}" y="${y + 15}" text-anchor="end">${escaped(target.what)}</text>
  <text class="small" x="${labelWidth}" y="${y + 15}">${figure(target.value)} (${escaped(boundText(target))})</text>
  <rect class="${colour}" x="${barsFrom}" y="${y + 4}" width="${(share * unitWidth).toFixed(1)}" height="14" rx="2"/>`
}

/** The value relative to its bound: 1 or more meets the target. */
const shareOf = ({ value, bound }: Target): number =>
  'atLeast' in bound ? value! / bound.atLeast : bound.atMost / value!

const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
