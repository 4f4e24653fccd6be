#!/usr/bin/env node
'use strict'
const fs = require('fs')
module.exports = { a: 1, b() { return /}/.test('{') } }

let divided = (a + b) / c
let regex = a ? /"/ : /'/
async function* gen() { yield* other(); await x }
class A extends (B, C) { static x = 1; get y() { return 1 } #p = 2; async m() { return `}${this.#p}` } }
var f = function () {}, g = x => ({ x })
for (var i = 0; i < 3; i++) print(i)
export const view = () => <p>It's {name}</p>
$('#id').on('click', function (event) { event.preventDefault(); console.log('long enough to count as a block that is left out') })
const one = /x/ // a comment on the line of a statement without a semicolon
const two = 2 // another, and a block comment below
/**
 * Doc of three
 */
const three = 3
function four() { return 4 } // after a body
/* block */ const five = 5
