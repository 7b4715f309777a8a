import { linearRegression, max, mean, median, min } from 'simple-statistics'

/** The spread of a figure over the rounds. */
export interface Spread {
  median: number
  /** Half the range as a share of the median; 0 with one round. */
  noise: number
}

export const spreadOf = (figures: readonly number[]): Spread => {
  const values = [...figures]
  const middle = median(values)
  return { median: middle, noise: middle === 0 ? 0 : (max(values) - min(values)) / 2 / middle }
}

export interface Slope {
  perMinute: number
  /** Standard error of the slope. A slope below two standard errors is noise. */
  standardError: number
}

/** Fits a line by least squares to at least three points `[seconds, value]`. */
export const slopeOf = (points: readonly (readonly [number, number])[]): Slope => {
  const { m, b } = linearRegression(points.map((point) => [...point]))
  const middle = mean(points.map(([x]) => x))
  const squares = (values: number[]) => values.reduce((sum, value) => sum + value ** 2, 0)
  const residual = squares(points.map(([x, y]) => y - (m * x + b))) / (points.length - 2)
  const standardError = Math.sqrt(residual / squares(points.map(([x]) => x - middle)))
  return { perMinute: m * 60, standardError: standardError * 60 }
}
