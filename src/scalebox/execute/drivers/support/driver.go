// What makes a Go program of functions answer one call: arguments in, the value out. See execute/drivers.

package main

import (
	scaleboxBinary "encoding/binary"
	scaleboxFmt "fmt"
	scaleboxIo "io"
	scaleboxMath "math"
	scaleboxBig "math/big"
	scaleboxOs "os"
	scaleboxReflect "reflect"
	scaleboxStrconv "strconv"
	scaleboxUtf8 "unicode/utf8"
)

// A function, and whether bytes and runes, which for Go are integers, are texts in it.
type scaleboxFunction struct {
	function     interface{}
	bytes, runes bool
}

type scaleboxUnfit string
type scaleboxTooLarge struct{}

const scaleboxMost = 16 << 20

var scaleboxInput []byte
var scaleboxCalled scaleboxFunction

// Before any code of the program, whose file comes behind this one by its name: what it reads from its standard input is
// then empty.
var _ = func() int {
	scaleboxInput, _ = scaleboxIo.ReadAll(scaleboxOs.Stdin)
	return 0
}()

func main() {
	index := scaleboxBinary.LittleEndian.Uint32(scaleboxInput)
	scaleboxCalled = scaleboxFunctions[scaleboxBinary.LittleEndian.Uint32(scaleboxInput[4:])]
	reader := &scaleboxReader{data: scaleboxInput[8:]}
	given := reader.read().([]interface{})[0].([]interface{})
	status, data := scaleboxCall(given)
	head := make([]byte, 17)
	scaleboxBinary.LittleEndian.PutUint32(head, uint32(13+len(data)))
	scaleboxBinary.LittleEndian.PutUint32(head[4:], index)
	head[8] = status
	if _, err := scaleboxOs.NewFile(3, "frames").Write(append(head, data...)); err != nil {
		scaleboxOs.Exit(70)
	}
}

func scaleboxCall(given []interface{}) (status byte, data []byte) {
	value := scaleboxReflect.ValueOf(scaleboxCalled.function)
	arguments, unfit := scaleboxArguments(value.Type(), given)
	if unfit != "" {
		return 4, []byte(unfit)
	}
	results := value.Call(arguments)
	if len(results) == 0 && len(arguments) > 0 {
		results = arguments[:1]
	}
	defer func() {
		if problem := recover(); problem != nil {
			if _, large := problem.(scaleboxTooLarge); !large {
				panic(problem)
			}
			status, data = 3, nil
		}
	}()
	writer := &scaleboxWriter{}
	switch len(results) {
	case 0:
		writer.out = append(writer.out, 'N')
	case 1:
		writer.put(results[0])
	default:
		writer.head('t', len(results))
		for _, result := range results {
			writer.put(result)
		}
	}
	if len(writer.out) > scaleboxMost {
		return 3, nil
	}
	return 0, writer.out
}

func scaleboxArguments(kind scaleboxReflect.Type, given []interface{}) (arguments []scaleboxReflect.Value, unfit string) {
	if kind.NumIn() != len(given) || kind.IsVariadic() {
		return nil, scaleboxFmt.Sprintf("takes %d arguments, %d are given", kind.NumIn(), len(given))
	}
	defer func() {
		if problem := recover(); problem != nil {
			text, ok := problem.(scaleboxUnfit)
			if !ok {
				panic(problem)
			}
			unfit = scaleboxFmt.Sprintf("argument %d %s", len(arguments)+1, string(text))
		}
	}()
	for number, one := range given {
		argument := scaleboxReflect.New(kind.In(number)).Elem()
		scaleboxSet(argument, one)
		arguments = append(arguments, argument)
	}
	return arguments, ""
}

// -- values in: nil, bool, *big.Int, float64, string, []interface{} (list, tuple, set), scaleboxPairs -------------

type scaleboxPairs [][2]interface{}

type scaleboxReader struct {
	data []byte
}

func (reader *scaleboxReader) take(size int) []byte {
	taken := reader.data[:size]
	reader.data = reader.data[size:]
	return taken
}

func (reader *scaleboxReader) count() int {
	return int(scaleboxBinary.LittleEndian.Uint32(reader.take(4)))
}

func (reader *scaleboxReader) integer() interface{} {
	return scaleboxBig.NewInt(int64(scaleboxBinary.LittleEndian.Uint64(reader.take(8))))
}

func (reader *scaleboxReader) float() interface{} {
	return scaleboxMath.Float64frombits(scaleboxBinary.LittleEndian.Uint64(reader.take(8)))
}

func (reader *scaleboxReader) read() interface{} {
	tag := reader.take(1)[0]
	switch tag {
	case 'N':
		return nil
	case 'T', 'F':
		return tag == 'T'
	case 'i':
		return reader.integer()
	case 'I':
		data := reader.take(reader.count())
		value := new(scaleboxBig.Int)
		for at := len(data) - 1; at >= 0; at-- {
			value.Lsh(value, 8).Or(value, scaleboxBig.NewInt(int64(data[at])))
		}
		if len(data) > 0 && data[len(data)-1] >= 0x80 {
			value.Sub(value, new(scaleboxBig.Int).Lsh(scaleboxBig.NewInt(1), uint(8*len(data))))
		}
		return value
	case 'd':
		return reader.float()
	case 's':
		return string(reader.take(reader.count()))
	case 'l', 't', 'S', 'Z', 'q', 'f':
		items := make([]interface{}, reader.count())
		for at := range items {
			switch tag {
			case 'q':
				items[at] = reader.integer()
			case 'f':
				items[at] = reader.float()
			default:
				items[at] = reader.read()
			}
		}
		return items
	case 'D':
		pairs := make(scaleboxPairs, reader.count())
		for at := range pairs {
			pairs[at] = [2]interface{}{reader.read(), reader.read()}
		}
		return pairs
	}
	panic(scaleboxUnfit("holds a value that Go has no type for"))
}

// -- values to the types that a function declares -----------------------------------------------------------------

func scaleboxSet(target scaleboxReflect.Value, value interface{}) {
	switch target.Kind() {
	case scaleboxReflect.Bool:
		given, ok := value.(bool)
		scaleboxCheck(ok, "is no bool")
		target.SetBool(given)
	case scaleboxReflect.Int, scaleboxReflect.Int8, scaleboxReflect.Int16, scaleboxReflect.Int32, scaleboxReflect.Int64:
		given := scaleboxInteger(target, value)
		scaleboxCheck(given.IsInt64() && !target.OverflowInt(given.Int64()), "is out of range")
		target.SetInt(given.Int64())
	case scaleboxReflect.Uint, scaleboxReflect.Uint8, scaleboxReflect.Uint16, scaleboxReflect.Uint32, scaleboxReflect.Uint64:
		given := scaleboxInteger(target, value)
		scaleboxCheck(given.IsUint64() && !target.OverflowUint(given.Uint64()), "is out of range")
		target.SetUint(given.Uint64())
	case scaleboxReflect.Float32, scaleboxReflect.Float64:
		switch given := value.(type) {
		case float64:
			target.SetFloat(given)
		case *scaleboxBig.Int:
			float, _ := new(scaleboxBig.Float).SetInt(given).Float64()
			target.SetFloat(float)
		default:
			panic(scaleboxUnfit("is no number"))
		}
	case scaleboxReflect.String:
		given, ok := value.(string)
		scaleboxCheck(ok, "is no string")
		target.SetString(given)
	case scaleboxReflect.Slice:
		items, ok := value.([]interface{})
		scaleboxCheck(ok, "is no list")
		target.Set(scaleboxReflect.MakeSlice(target.Type(), len(items), len(items)))
		for at, item := range items {
			scaleboxSet(target.Index(at), item)
		}
	case scaleboxReflect.Array:
		items, ok := value.([]interface{})
		scaleboxCheck(ok && len(items) == target.Len(), "is no list of the array's length")
		for at, item := range items {
			scaleboxSet(target.Index(at), item)
		}
	case scaleboxReflect.Map:
		scaleboxSetMap(target, value)
	case scaleboxReflect.Ptr:
		scaleboxSetPointer(target, value)
	case scaleboxReflect.Interface:
		if plain := scaleboxPlain(value); plain != nil {
			scaleboxCheck(target.NumMethod() == 0, "has a type that is not supported")
			target.Set(scaleboxReflect.ValueOf(plain))
		}
	default:
		panic(scaleboxUnfit("has a type that is not supported: " + target.Type().String()))
	}
}

func scaleboxCheck(ok bool, text string) {
	if !ok {
		panic(scaleboxUnfit(text))
	}
}

// An integer, or for a byte and a rune the text that is that character.
func scaleboxInteger(target scaleboxReflect.Value, value interface{}) *scaleboxBig.Int {
	if text, ok := value.(string); ok && scaleboxIsText(target.Kind()) {
		point, size := scaleboxUtf8.DecodeRuneInString(text)
		scaleboxCheck(size > 0 && size == len(text), "is no character")
		return scaleboxBig.NewInt(int64(point))
	}
	given, ok := value.(*scaleboxBig.Int)
	scaleboxCheck(ok, "is no integer")
	return given
}

func scaleboxSetMap(target scaleboxReflect.Value, value interface{}) {
	kind := target.Type()
	target.Set(scaleboxReflect.MakeMap(kind))
	if items, ok := value.([]interface{}); ok && kind.Elem().Kind() != scaleboxReflect.Ptr {
		for _, item := range items { // a set
			key := scaleboxReflect.New(kind.Key()).Elem()
			scaleboxSet(key, item)
			mark := scaleboxReflect.New(kind.Elem()).Elem()
			scaleboxCheck(mark.Kind() == scaleboxReflect.Bool || mark.Kind() == scaleboxReflect.Struct, "is no map")
			if mark.Kind() == scaleboxReflect.Bool {
				mark.SetBool(true)
			}
			target.SetMapIndex(key, mark)
		}
		return
	}
	pairs, ok := value.(scaleboxPairs)
	scaleboxCheck(ok, "is no map")
	for _, pair := range pairs {
		key, item := scaleboxReflect.New(kind.Key()).Elem(), scaleboxReflect.New(kind.Elem()).Elem()
		text, ok := pair[0].(string)
		if ok && key.Kind() >= scaleboxReflect.Int && key.Kind() <= scaleboxReflect.Uint64 {
			// JSON has no keys but texts: one that is an integer stands for it.
			if number, err := scaleboxStrconv.ParseInt(text, 10, 64); err == nil {
				pair[0] = scaleboxBig.NewInt(number)
			}
		}
		scaleboxSet(key, pair[0])
		scaleboxSet(item, pair[1])
		target.SetMapIndex(key, item)
	}
}

func scaleboxSetPointer(target scaleboxReflect.Value, value interface{}) {
	if value == nil {
		return
	}
	items, list := value.([]interface{})
	switch kind := target.Type().Elem(); {
	case list && kind.Name() == "ListNode":
		for at := len(items) - 1; at >= 0; at-- {
			node := scaleboxNode(kind, items[at])
			node.Elem().FieldByName("Next").Set(target)
			target.Set(node)
		}
	case list && kind.Name() == "TreeNode":
		scaleboxSetTree(target, items)
	case kind == scaleboxReflect.TypeOf(scaleboxBig.Int{}):
		given, ok := value.(*scaleboxBig.Int)
		scaleboxCheck(ok, "is no integer")
		target.Set(scaleboxReflect.ValueOf(given))
	default:
		target.Set(scaleboxReflect.New(kind))
		scaleboxSet(target.Elem(), value)
	}
}

// -- nodes, as LeetCode writes them: lists as arrays, trees level by level with nil where a child is not there ------

func scaleboxNode(kind scaleboxReflect.Type, value interface{}) scaleboxReflect.Value {
	node := scaleboxReflect.New(kind)
	scaleboxSet(node.Elem().FieldByName("Val"), value)
	return node
}

func scaleboxSetTree(target scaleboxReflect.Value, items []interface{}) {
	if len(items) == 0 || items[0] == nil {
		return
	}
	target.Set(scaleboxNode(target.Type().Elem(), items[0]))
	nodes, at := []scaleboxReflect.Value{target}, 1
	for place := 0; place < len(nodes); place++ {
		for _, side := range []string{"Left", "Right"} {
			if at < len(items) {
				if items[at] != nil {
					child := nodes[place].Elem().FieldByName(side)
					child.Set(scaleboxNode(target.Type().Elem(), items[at]))
					nodes = append(nodes, child)
				}
				at++
			}
		}
	}
	scaleboxCheck(at >= len(items), "has values without a parent")
}

// The value that stands for any type: what encoding/json would make of it, and integers.
func scaleboxPlain(value interface{}) interface{} {
	switch given := value.(type) {
	case *scaleboxBig.Int:
		if given.IsInt64() {
			return int(given.Int64())
		}
		return given
	case []interface{}:
		for at, item := range given {
			given[at] = scaleboxPlain(item)
		}
		return given
	case scaleboxPairs:
		made := map[string]interface{}{}
		for _, pair := range given {
			key, ok := pair[0].(string)
			scaleboxCheck(ok, "has a key that is no string")
			made[key] = scaleboxPlain(pair[1])
		}
		return made
	}
	return value
}

// -- values out -----------------------------------------------------------------------------------------------------

type scaleboxWriter struct {
	out []byte
}

// Whether the integers of a kind are characters.
func scaleboxIsText(kind scaleboxReflect.Kind) bool {
	return kind == scaleboxReflect.Uint8 && scaleboxCalled.bytes || kind == scaleboxReflect.Int32 && scaleboxCalled.runes
}

func (writer *scaleboxWriter) number(value uint64, size int) {
	for at := 0; at < size; at++ {
		writer.out = append(writer.out, byte(value>>(8*at)))
	}
}

func (writer *scaleboxWriter) head(tag byte, count int) {
	writer.out = append(writer.out, tag)
	writer.number(uint64(count), 4)
}

func (writer *scaleboxWriter) text(tag byte, text string) {
	writer.head(tag, len(text))
	writer.out = append(writer.out, text...)
}

func (writer *scaleboxWriter) put(value scaleboxReflect.Value) {
	if len(writer.out) > scaleboxMost {
		panic(scaleboxTooLarge{})
	}
	switch value.Kind() {
	case scaleboxReflect.Bool:
		if value.Bool() {
			writer.out = append(writer.out, 'T')
		} else {
			writer.out = append(writer.out, 'F')
		}
	case scaleboxReflect.Int, scaleboxReflect.Int8, scaleboxReflect.Int16, scaleboxReflect.Int32, scaleboxReflect.Int64:
		if scaleboxIsText(value.Kind()) {
			writer.text('s', string(rune(value.Int())))
			return
		}
		writer.out = append(writer.out, 'i')
		writer.number(uint64(value.Int()), 8)
	case scaleboxReflect.Uint, scaleboxReflect.Uint8, scaleboxReflect.Uint16, scaleboxReflect.Uint32, scaleboxReflect.Uint64:
		if scaleboxIsText(value.Kind()) {
			writer.text('s', string(rune(value.Uint())))
			return
		}
		if value.Uint() > scaleboxMath.MaxInt64 {
			writer.head('I', 9)
			writer.number(value.Uint(), 8)
			writer.out = append(writer.out, 0)
			return
		}
		writer.out = append(writer.out, 'i')
		writer.number(value.Uint(), 8)
	case scaleboxReflect.Float32, scaleboxReflect.Float64:
		writer.out = append(writer.out, 'd')
		writer.number(scaleboxMath.Float64bits(value.Float()), 8)
	case scaleboxReflect.String:
		writer.text('s', value.String())
	case scaleboxReflect.Slice, scaleboxReflect.Array:
		writer.head('l', value.Len())
		for at := 0; at < value.Len(); at++ {
			writer.put(value.Index(at))
		}
	case scaleboxReflect.Map:
		writer.putMap(value)
	case scaleboxReflect.Ptr:
		writer.putPointer(value)
	case scaleboxReflect.Interface:
		writer.putInterface(value)
	default:
		writer.text('x', value.Type().String())
	}
}

func (writer *scaleboxWriter) putMap(value scaleboxReflect.Value) {
	element := value.Type().Elem()
	set := element.Kind() == scaleboxReflect.Struct && element.NumField() == 0
	if set {
		writer.head('S', value.Len())
	} else {
		writer.head('D', value.Len())
	}
	for _, key := range value.MapKeys() {
		writer.put(key)
		if !set {
			writer.put(value.MapIndex(key))
		}
	}
}

func (writer *scaleboxWriter) putInterface(value scaleboxReflect.Value) {
	if value.IsNil() {
		writer.out = append(writer.out, 'N')
	} else if problem, ok := value.Interface().(error); ok {
		writer.text('s', problem.Error())
	} else {
		writer.put(value.Elem())
	}
}

func (writer *scaleboxWriter) putPointer(value scaleboxReflect.Value) {
	var values []scaleboxReflect.Value
	switch value.Type().Elem().Name() {
	case "ListNode":
		for node := value; !node.IsNil(); node = node.Elem().FieldByName("Next") {
			if len(values) > scaleboxMost/9 { // a ring
				panic(scaleboxTooLarge{})
			}
			values = append(values, node.Elem().FieldByName("Val"))
		}
	case "TreeNode":
		values = scaleboxTree(value)
	default:
		if value.IsNil() {
			writer.out = append(writer.out, 'N')
		} else if big, ok := value.Interface().(*scaleboxBig.Int); ok {
			writer.putBig(big)
		} else {
			writer.put(value.Elem())
		}
		return
	}
	writer.head('l', len(values))
	for _, one := range values {
		if one.IsValid() {
			writer.put(one)
		} else {
			writer.out = append(writer.out, 'N')
		}
	}
}

// The bytes of its two's complement.
func (writer *scaleboxWriter) putBig(value *scaleboxBig.Int) {
	size := value.BitLen()/8 + 1
	if value.Sign() < 0 {
		value = new(scaleboxBig.Int).Add(value, new(scaleboxBig.Int).Lsh(scaleboxBig.NewInt(1), uint(8*size)))
	}
	data := value.FillBytes(make([]byte, size))
	writer.head('I', size)
	for at := size - 1; at >= 0; at-- {
		writer.out = append(writer.out, data[at])
	}
}

func scaleboxTree(root scaleboxReflect.Value) []scaleboxReflect.Value {
	var values []scaleboxReflect.Value
	for nodes := []scaleboxReflect.Value{root}; len(nodes) > 0; nodes = nodes[1:] {
		if len(values) > scaleboxMost/9 {
			panic(scaleboxTooLarge{})
		}
		if nodes[0].IsNil() {
			values = append(values, scaleboxReflect.Value{})
			continue
		}
		node := nodes[0].Elem()
		values = append(values, node.FieldByName("Val"))
		nodes = append(nodes, node.FieldByName("Left"), node.FieldByName("Right"))
	}
	for len(values) > 0 && !values[len(values)-1].IsValid() {
		values = values[:len(values)-1]
	}
	return values
}
