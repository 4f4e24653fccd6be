import React from 'react'

const generic = <T,>(value: T) => value
const extended = <T extends object>(value: T) => { return value }
type Callback = <T>(value: T) => void
const less = a < b && c > d
export const View = ({ name }: Props) => {
  const [state, setState] = useState<string>('it')
  return (
    <>
      <div className="it's" {...props} data-x='a "b"' // comment } in a tag
      >
        Don't { /* it's a comment } */ } break " here
        {items.map((item) => <Item<Kind | 'x'> key={item} value={`${item}}`} />)}
        <b>text</b> {'}'}
      </div>
    </>
  )
}
class Component extends React.Component<Props> {
  state = { a: 1 }
  render() { return this.state.a < 2 ? <A.B c="}" /> : <p>{"it's"}</p> }
}
export default View
